//! The choice of a runtime for `caudal top`: the sockets of all running runtimes, and the one that the user means. `top` calls [`pick`]
//! before it connects, and [`list`] for `--list`. It connects to each socket to ask for its name.

use caudal_observe::socket::{Client, Entry, runtimes};
use miette::miette;
use serde_json::json;

use crate::global::Global;
use caudal_results::table::{Table, time};

/// The runtime that was meant.
pub(super) struct Picked {
    pub(super) id: String,
    pub(super) client: Client,
}

fn all() -> miette::Result<Vec<Entry>> {
    runtimes().map_err(|error| miette!("{error}"))
}

/// The runtime whose process or name is `wanted`.
pub(super) fn pick(wanted: &str) -> miette::Result<Picked> {
    let entries = all()?;
    if let Some(entry) = entries.iter().find(|entry| entry.id == wanted) {
        return connect(entry);
    }
    let named: Vec<&Entry> =
        entries.iter().filter(|entry| name_of(entry).as_deref() == Some(wanted)).collect();
    match named[..] {
        [one] => connect(one),
        [] => Err(none(wanted)),
        _ => {
            let ids: Vec<&str> = named.iter().map(|entry| entry.id.as_str()).collect();
            Err(miette!(
                help = format!("say which, by its number: caudal top {}", ids[0]),
                "{} runtimes are called `{wanted}`: {}",
                ids.len(),
                ids.join(", ")
            ))
        }
    }
}

fn name_of(entry: &Entry) -> Option<String> {
    Some(Client::connect(&entry.path).ok()?.about().ok()?.name)
}

fn connect(entry: &Entry) -> miette::Result<Picked> {
    match Client::connect(&entry.path) {
        Ok(client) => Ok(Picked { id: entry.id.clone(), client }),
        Err(error) => Err(miette!(
            help = "`caudal top` lists the runtimes that can be seen",
            "runtime {} can not be asked: {error}",
            entry.id
        )),
    }
}

/// Nothing is there under that name; why could that be?
fn none(wanted: &str) -> miette::Report {
    let is_process = wanted.parse::<u32>().is_ok();
    if is_process && std::path::Path::new("/proc").join(wanted).exists() {
        return miette!(
            help = "only its own user can look at a runtime; it may also have been started without `observed()` of caudal-observe, or \
                    could not open its socket: Runtime::socket_path says why",
            "process {wanted} shows no runtime to this user"
        );
    }
    miette!(help = "`caudal top` lists the runtimes that can be seen", "there is no runtime `{wanted}`")
}

/// Prints the runtimes of this user.
pub(super) fn list(global: &Global) -> miette::Result<()> {
    let mut table = Table::new(&["runtime", "name", "up", "workers", "classes", "requests"]);
    let mut rows = 0;
    for entry in all()? {
        let Ok(snapshot) = Client::connect(&entry.path).and_then(|mut client| client.snapshot()) else {
            continue;
        };
        rows += 1;
        let (name, workers, requests) = (&snapshot.runtime.name, snapshot.workers.len(), snapshot.finished());
        let classes: Vec<&str> = snapshot.classes.iter().map(|class| class.name.as_str()).collect();
        if global.json {
            let uptime_ns = snapshot.uptime_ns;
            outln!(
                "{}",
                json!({ "runtime": entry.id, "name": name, "uptime_ns": uptime_ns, "workers": workers, "classes": classes,
                        "requests": requests, "socket": entry.path })
            );
        }
        table.row(vec![
            entry.id,
            name.clone(),
            time(snapshot.uptime_ns as f64),
            workers.to_string(),
            classes.join(" "),
            requests.to_string(),
        ]);
    }
    match (global.json, rows) {
        (true, _) => {}
        (false, 0) => errln!("no runtime of this user can be seen; `caudal top PID` says why one can not"),
        (false, _) => out!("{table}"),
    }
    Ok(())
}
