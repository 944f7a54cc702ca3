//! Checks the workspace's code for what the compiler and clippy do not check. Called by `make lint`.

fn main() {
    for root in std::env::args().skip(1) {
        let all = caudal_lint::modules::Crate::read(root.as_ref()).unwrap();
        for circle in caudal_lint::circles::circles(&all) {
            println!("{} modules: {}", circle.modules.len(), circle.modules.join(" "));
            for arrow in circle.arrows {
                println!("  {} -> {}: {}", arrow.from.display(), arrow.to.display(), arrow.names.join(", "));
            }
        }
    }
}
