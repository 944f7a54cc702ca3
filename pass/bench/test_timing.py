"""What the bench makes of distances: bins, filter, percentiles, intervals."""
import unittest

import timing


def bin_of(cycles):
    """bins.h, once more."""
    if cycles < timing.SHARES:
        return cycles
    power = cycles.bit_length() - 1
    return (power - 4) * timing.SHARES + (cycles >> (power - 5) & (timing.SHARES - 1))


def bins(*lengths):
    return [(bin_of(cycles), count, cycles * count) for count, cycles in lengths]


def said(early=(), late=(), cycles=1000000):
    return {"early": bins(*early), "late": bins(*late), "cycles": cycles}


def machine(*gaps, cycles=1000000):
    return [{"gaps": bins(*gaps), "cycles": cycles}]


class Timing(unittest.TestCase):
    def test_bins_know_their_powers(self):
        for cycles in (32, 33, 63, 64, 1000, 2047, 2048, 5192, 10**6):
            self.assertEqual(timing.power_of(bin_of(cycles)), cycles.bit_length() - 1)

    def test_bins_are_three_percent_wide(self):
        for cycles in range(100, 20000, 7):
            self.assertNotEqual(bin_of(cycles), bin_of(int(cycles * 1.04)))

    def test_only_as_many_are_taken_out_as_the_machine_stalls(self):
        times = said(late=[(10, 5000)])
        self.assertEqual(sum(count for _, count, _ in timing.filtered(times, machine((4, 7000)))), 6)
        self.assertEqual(sum(count for _, count, _ in timing.filtered(times, machine((40, 7000)))), 0)
        self.assertEqual(sum(count for _, count, _ in timing.filtered(times, machine((4, 7000), cycles=2000000))), 8)

    def test_stalls_of_other_lengths_explain_nothing(self):
        times = said(late=[(10, 5000)])
        self.assertEqual(sum(count for _, count, _ in timing.filtered(times, machine((99, 9000), (99, 3000)))), 10)

    def test_short_lateness_counts_whatever_the_machine_does(self):
        times = said(late=[(10, 1500)])
        self.assertEqual(sum(count for _, count, _ in timing.filtered(times, machine((99, 1500)))), 10)

    def test_the_mean_is_of_both_sides(self):
        self.assertEqual(timing.mean(bins((1, 300)), bins((3, 100))), 150)

    def test_who_is_early_is_not_late(self):
        early, late = bins((98, 3000)), bins((1, 100), (1, 8000))
        self.assertEqual(timing.percentile(early, late, 0.5), 0)
        self.assertEqual(timing.percentile(early, late, 0.99), 100)
        self.assertEqual(timing.percentile(early, late, 0.995), 8000)

    def test_of_ten_the_interval_is_from_the_second_to_the_ninth(self):
        self.assertEqual(timing.interval([5, 3, 9, 1, 7, 2, 8, 4, 6, 10]), (5.5, 2, 9))


unittest.main()
