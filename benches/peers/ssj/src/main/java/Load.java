/** The queue that every driver simulates. */
final class Load {
    final int servers = 16;
    final double utilization = 0.8;
    final double meanServiceUs = 1.0;
    final long requests;

    Load(long requests) {
        this.requests = requests;
    }

    double arrivalsPerUs() {
        return servers * utilization / meanServiceUs;
    }
}
