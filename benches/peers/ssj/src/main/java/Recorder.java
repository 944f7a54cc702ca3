/** What every idiom records of a request that finishes; times in microseconds. */
final class Recorder {
    final LogHistogram sojourn = new LogHistogram();
    final LogHistogram slowdown = new LogHistogram();
    private final long warmUp;
    private long finished;

    /** Drops the first tenth of {@code requests}. */
    Recorder(long requests) {
        warmUp = requests / 10;
    }

    void finish(double arrived, double service, double now) {
        if (++finished > warmUp) {
            double inSystem = now - arrived;
            sojourn.record(inSystem);
            slowdown.record(inSystem / service);
        }
    }
}
