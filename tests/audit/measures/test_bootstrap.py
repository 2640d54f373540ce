"""The bootstrap of clusters, compared with all possible resamples, with formulas, and with simulated truth."""

from __future__ import annotations

import itertools
import math
import tracemalloc

import numpy as np
import pytest

from audit.measures.bootstrap import Interval, cluster_bootstrap, percentile_interval, ratio_interval, resampled_sums


def share(sums):
    return sums[:, 0] / sums[:, 1]


def correlated(clusters: int, generator: np.random.Generator) -> np.ndarray:
    """Ten yes-or-no items a cluster, whose probability varies among clusters: beta(1, 1), so 1/3 is within-cluster."""
    chance = generator.beta(1, 1, clusters)
    return np.stack([generator.binomial(10, chance), np.full(clusters, 10)], axis=1)


def coverage(clusters: int, repeats: int = 300) -> float:
    """How often the interval for a share of 1/2 holds it."""
    generator = np.random.default_rng(5)
    intervals = [cluster_bootstrap(correlated(clusters, generator), share, resamples=999) for _ in range(repeats)]
    return sum(low <= 0.5 <= high for low, high in intervals) / repeats


class TestCoverage:
    """Of nominally 95%, in 2000 simulations with a correlation of 1/3 within clusters of ten items.

    The interval held the truth in 80.8% with 3 clusters, 85.1% with 5, 91.7% with 10, 92.9% with 20, and 94.8% with 50:
    resamples of a few clusters spread less than the clusters that might have been.
    """

    @pytest.mark.parametrize(("clusters", "low", "high"), [(20, 0.90, 0.97), (50, 0.92, 0.98)])
    def test_it_is_near_95_percent_with_twenty_clusters_and_more(self, clusters, low, high):
        assert low <= coverage(clusters) <= high

    def test_it_is_too_low_with_few_clusters(self):
        assert coverage(3) < 0.85

    def test_intervals_that_take_items_to_be_independent_miss_far_more_often(self):
        generator = np.random.default_rng(5)
        held = 0
        for _ in range(300):
            hits, items = correlated(50, generator).sum(axis=0)
            reach = 1.96 * math.sqrt(hits * (items - hits) / items**3)
            held += abs(hits / items - 0.5) <= reach
        assert held / 300 < 0.75


class TestExactly:
    def test_three_clusters_against_all_27_resamples(self):
        counts = np.array([[1, 4], [2, 4], [4, 4]])
        shares = sorted(sum(counts[i, 0] for i in drawn) / 12 for drawn in itertools.product(range(3), repeat=3))
        values = share(resampled_sums(counts, resamples=200_000))
        for value in set(shares):
            assert np.mean(np.isclose(values, value)) == pytest.approx(shares.count(value) / 27, abs=0.004)
        # One resample of 27 is the lowest and one the highest, more than 2.5% each: the interval ends there.
        assert cluster_bootstrap(counts, share) == Interval(shares[0], shares[-1]) == Interval(0.25, 1.0)

    def test_a_mean_of_many_clusters_against_the_normal_approximation(self):
        sizes = np.random.default_rng(0).normal(3, 2, 400)
        counts = np.stack([sizes, np.ones(400)], axis=1)
        low, high = cluster_bootstrap(counts, share)
        reach = 1.96 * sizes.std() / 20
        assert low == pytest.approx(sizes.mean() - reach, abs=0.02)
        assert high == pytest.approx(sizes.mean() + reach, abs=0.02)

    def test_ends_are_the_25th_values_from_either_end_of_999(self):
        values = np.random.default_rng(1).permutation(np.arange(1, 1000))
        assert percentile_interval(values) == Interval(25, 975)
        assert percentile_interval(values, level=0.9) == Interval(50, 950)

    def test_the_same_seed_gives_the_same_interval_and_the_order_of_clusters_is_no_matter(self):
        counts = correlated(30, np.random.default_rng(2))
        first = cluster_bootstrap(counts, share)
        assert cluster_bootstrap(counts[::-1], share) == first
        assert (resampled_sums(counts) == resampled_sums(counts[::-1])).all()
        assert (resampled_sums(counts) != resampled_sums(counts, seed=1)).any()

    def test_items_of_a_cluster_go_together(self):
        counts = np.array([[10, 10], [0, 10]] * 5)
        assert set(np.unique(resampled_sums(counts, resamples=500)[:, 0])) <= set(range(0, 101, 10))


class TestAtTheEdges:
    @pytest.mark.parametrize("clusters", [0, 1])
    def test_fewer_than_two_clusters_have_no_interval(self, clusters):
        assert all(map(math.isnan, cluster_bootstrap(np.ones((clusters, 2)), share)))

    def test_undefined_replicates_are_left_out_up_to_a_twentieth(self):
        values = np.arange(1000.0)
        values[:50] = np.nan
        # 950 are left, from 50: the 23rd from either end, 951 times 0.025 being 23.8.
        assert percentile_interval(values) == Interval(72, 977)
        values[50] = np.nan
        assert all(map(math.isnan, percentile_interval(values)))
        assert all(map(math.isnan, percentile_interval(np.full(100, np.nan))))

    def test_infinities_are_in_order_and_can_be_an_end(self):
        # Two of three clusters have no denominator: (2/3)^3 = 30% of resamples are infinite.
        counts = np.array([[1, 0], [1, 0], [1, 1]])
        low, high = cluster_bootstrap(counts, share)
        assert (low, high) == (1.0, math.inf)
        assert cluster_bootstrap(counts, lambda sums: -share(sums)) == Interval(-math.inf, -1.0)

    @pytest.mark.parametrize(
        ("counts", "options", "message"),
        [
            (np.ones(3), {}, "shape"),
            (np.array([[1.0], [math.nan]]), {}, "finite"),
            (np.ones((3, 2)), {"level": 1.0}, "level"),
            (np.ones((3, 2)), {"resamples": 0}, "resample"),
        ],
    )
    def test_what_makes_no_sense_is_refused(self, counts, options, message):
        with pytest.raises(ValueError, match=message):
            cluster_bootstrap(counts, lambda sums: sums[:, 0], **options)

    def test_ten_thousand_clusters_fit(self):
        counts = np.ones((10_000, 2))
        tracemalloc.start()
        cluster_bootstrap(counts, share, resamples=2000)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        # All draws at once would take 160 MB, three times over.
        assert peak < 150e6


class TestRatio:
    def test_three_clusters_enumerated(self):
        # Sums (2, 4), (1, 1) and (0, 3) of the clusters; all 27 ways to draw three, and the central nine tenths.
        parts, wholes, clusters = [1, 1, 0, 1, 0], [2, 1, 1, 1, 3], ["a", "a", "a", "b", "c"]
        sums = np.array([[2, 4], [1, 1], [0, 3]])
        every = sorted(
            share(np.array([sum(sums[i] for i in drawn)]))[0] for drawn in itertools.product(range(3), repeat=3)
        )
        low, high = ratio_interval(parts, wholes, clusters, level=0.9)
        assert (low, high) == pytest.approx((every[int(0.05 * 27)], every[-1 - int(0.05 * 27)]))

    def test_one_cluster_or_none_has_no_interval(self):
        assert all(map(math.isnan, ratio_interval([1, 0], [1, 1], [7, 7])))
        assert all(map(math.isnan, ratio_interval([], [], [])))

    def test_lengths_that_differ_are_refused(self):
        with pytest.raises(ValueError, match="length"):
            ratio_interval([1, 0], [1, 1], [1, 2, 3])
