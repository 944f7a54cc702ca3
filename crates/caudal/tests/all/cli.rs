//! What the command prints, held against `tests/cmd/*.trycmd`. `TRYCMD=overwrite cargo test -p caudal --test all
//! cli` mends them after a change that was meant; read the difference before you commit it.

#[test]
fn prints_what_it_printed() {
    trycmd::TestCases::new().case("tests/cmd/*.trycmd");
}
