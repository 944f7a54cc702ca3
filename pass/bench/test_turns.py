"""Processes that take turns."""
import pathlib, time, unittest, unittest.mock

import turns

COUNT = "i=0; while [ $i -lt {} ]; do i=$((i+1)); done; "


def shell(script, environment=None):
    return ["sh", "-c", script], environment


def running():
    """What runs now, words with a zero behind each."""
    found = []
    for file in pathlib.Path("/proc").glob("[0-9]*/cmdline"):
        try:
            found.append(file.read_text(errors="replace"))
        except OSError:
            pass  # has ended meanwhile
    return found


def is_gone(command):
    """A process that was killed may be there for a moment more."""
    words = command.replace(" ", "\0") + "\0"
    for _ in range(1000):
        if words not in running():
            return True
        time.sleep(0.01)
    return False


class Turns(unittest.TestCase):
    def test_what_each_said(self):
        first, second = turns.take_turns([shell(COUNT.format(30000) + "echo said; echo so >&2; exit 3"),
                                          shell("echo $THING; kill -9 $$", {"THING": "other"})])
        self.assertEqual(first[:3], (3, "said\n", "so\n"))
        self.assertEqual(second[:3], (-9, "other\n", ""))

    def test_seconds_are_those_of_what_was_started_too(self):
        alone, waiting = turns.take_turns([shell(COUNT.format(100000)), shell(f"sh -c '{COUNT.format(100000)}'; sleep 0.1")])
        self.assertGreater(alone[3], 0)
        self.assertGreater(waiting[3], alone[3] / 4)

    def test_only_one_runs_at_a_time(self):
        # Each writes down when it runs; in turns those moments do not mix.
        script = "i=0; while [ $i -lt 60 ]; do i=$((i+1)); date +%s%N; done"
        with unittest.mock.patch.object(turns, "TURN", 0.1):
            times = [list(map(int, said[1].split())) for said in turns.take_turns([shell(script), shell(script)])]
        owners = [owner for _, owner in sorted((at, owner) for owner, of_one in enumerate(times) for at in of_one)]
        changes = sum(one != next_ for one, next_ in zip(owners, owners[1:]))
        self.assertLess(changes, len(owners) / 3)

    def test_nothing_is_left_running(self):
        with self.assertRaises(FileNotFoundError):
            turns.take_turns([(["sleep", "98765.4321"], None), (["/nowhere/to/be/found"], None)])
        self.assertTrue(is_gone("sleep 98765.4321"))

    def test_nothing_that_was_started_is_left_running(self):
        turns.take_turns([shell("sleep 98765.1234 & exit 0")])
        self.assertTrue(is_gone("sleep 98765.1234"))

    def test_what_does_not_end_is_an_error(self):
        with unittest.mock.patch.object(turns, "LONGEST", 0.1), self.assertRaisesRegex(TimeoutError, "sleep 1000"):
            turns.take_turns([shell("true"), shell("exec sleep 1000")])


unittest.main()
