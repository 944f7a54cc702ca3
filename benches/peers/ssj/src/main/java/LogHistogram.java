/**
 * Log-linear histogram of positive doubles: 256 buckets an octave, taken straight from the bits of the number.
 *
 * <p>A bucket is at most 1/256 of its lower edge wide and answers with its middle, so the relative error of a
 * percentile is at most 0.2 %. Mean and maximum are exact.
 */
final class LogHistogram {
    private static final int SUB_BITS = 8;
    private static final int SHIFT = 52 - SUB_BITS;
    private static final long LOWEST = (1023L - 64L) << SUB_BITS; // the bucket of 2^-64
    private static final int BUCKETS = 128 << SUB_BITS; // up to 2^64

    private final long[] counts = new long[BUCKETS];
    private long total;
    private double sum;
    private double max;

    void record(double value) {
        counts[(int) ((Double.doubleToRawLongBits(value) >>> SHIFT) - LOWEST)]++;
        total++;
        sum += value;
        if (value > max) {
            max = value;
        }
    }

    double mean() {
        return sum / total;
    }

    double max() {
        return max;
    }

    /** The smallest recorded value that at least {@code share} of all values do not exceed. */
    double quantile(double share) {
        long wanted = (long) Math.ceil(share * total);
        long seen = 0;
        for (int bucket = 0; bucket < BUCKETS; bucket++) {
            seen += counts[bucket];
            if (seen >= wanted) {
                return Double.longBitsToDouble(((bucket + LOWEST) << SHIFT) | (1L << (SHIFT - 1)));
            }
        }
        throw new IllegalStateException("quantile of an empty histogram");
    }
}
