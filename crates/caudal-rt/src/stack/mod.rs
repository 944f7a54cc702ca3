//! To come.
#[derive(Clone, Copy, Debug)]
pub struct StackConfig {
    pub size: usize,
    pub limit: Option<usize>,
}
impl Default for StackConfig {
    fn default() -> Self {
        StackConfig { size: 256 << 10, limit: None }
    }
}
#[derive(Clone, Debug)]
pub struct StackPool(StackConfig);
pub type PooledStack = corosensei::stack::DefaultStack;
impl StackPool {
    pub fn of_runtime(config: StackConfig) -> StackPool {
        StackPool(config)
    }
    pub fn take(&mut self) -> Option<PooledStack> {
        corosensei::stack::DefaultStack::new(self.0.size).ok()
    }
}
