"""What a person reads: a block for each program, and tables in the end."""
import statistics

# Tiny Quanta, Table 3.
PUBLISHED = {"clock": (10.05, 902), "instruction-counter": (17.65, 2122), "counter-gated-clock": (19.30, 1891)}
SHORT = {"instruction-counter": "CI", "counter-gated-clock": "CI-Cycles"}


def percent(value):
    return f"{100 * value:+.1f}"


def show(row, columns):
    print(f"{row['program']}  {row['plain_ms']:.0f} ms")
    for name in columns:
        m = row[name]
        text = f"  {name:20}{percent(m['overhead']):>7} % [{percent(m['low'])}, {percent(m['high'])}]"
        text += f"  instructions {percent(m['instructions'])} %" if m.get("instructions") is not None else ""
        text += f"  code {percent(m['code'])} %  compile {percent(m['compile'])} %" if "code" in m else ""
        text += f"  error {m['error_cycles']:.0f} (raw {m['raw_error_cycles']:.0f}), late p99 {m['late_p99_quanta']:.2f} quanta" \
            if "error_cycles" in m else ""
        print(text, flush=True)


def line(first, cells):
    print(f"{first:20}" + "".join(f"{cell:>11}" for cell in cells))


def of_programs(rows, columns):
    """Like Tiny Quanta's Table 3: overhead, then the mean absolute error."""
    timed = [name for name in columns if "error_cycles" in rows[0][name]]
    print("\noverhead in %, then the mean absolute error of yields, filtered, in cycles")
    line("", [SHORT.get(name, name) for name in [*columns, *timed]])
    for row in rows:
        line(row["program"], [percent(row[name]["overhead"]) for name in columns]
             + [f"{row[name]['error_cycles']:.0f}" for name in timed])


def of_means(rows, columns):
    def cell(name, key, text):
        values = [row[name][key] for row in rows if row[name].get(key) is not None]
        return text(statistics.mean(values)) if values else "-"

    def share(value):
        return percent(value) + " %"

    print("\nmeans; error: mean absolute error of yields in cycles, filtered and raw; published: overhead and error")
    line("", ["overhead", "instr.", "code", "compile", "error", "raw", "published"])
    for name in columns:
        published = "{:.2f} % {:5}".format(*PUBLISHED[name]) if name in PUBLISHED else ""
        line(name, [cell(name, key, share) for key in ("overhead", "instructions", "code", "compile")]
             + [cell(name, key, "{:.0f}".format) for key in ("error_cycles", "raw_error_cycles")] + ["  " + published])
    for name in columns:
        if (default := cell(name, "default_rate_error_cycles", "{:.0f}".format)) != "-":
            print(f"{name}: error {default} cycles with the same instructions a cycle for all programs")
    print("worst, by the lower end of the interval:")
    for name in columns:
        worst = max(rows, key=lambda row: row[name]["low"])
        print(f"  {name:20}{percent(worst[name]['low'])} % {worst['program']}")


def of_phases(rows, columns):
    for row in rows:
        if row["program"] == "phases":
            print("phases, 99th percentile of lateness in quanta, filtered and raw:")
            for name in columns:
                if "late_p99_quanta" in row[name]:
                    print(f"  {name:20}{row[name]['late_p99_quanta']:6.2f} {row[name]['raw_late_p99_quanta']:6.2f}")


def in_the_end(rows, columns):
    of_programs(rows, columns)
    of_means(rows, columns)
    of_phases(rows, columns)
