import com.sun.management.OperatingSystemMXBean;
import java.lang.management.ManagementFactory;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/** Runs M/M/16 in SSJ: {@code --requests N --seed S --idiom textbook|tuned}; prints one line of JSON. */
public final class Main {
    /** Runs before the measured one, each of this share of its length: HotSpot then has compiled everything. */
    private static final int WARM_UPS = 2;
    private static final int WARM_UP_SHARE = 4;

    private Main() {}

    public static void main(String[] args) {
        Map<String, String> options = new HashMap<>();
        for (int i = 0; i + 1 < args.length; i += 2) {
            options.put(args[i], args[i + 1]);
        }
        long requests = Long.parseLong(options.get("--requests"));
        int seed = Integer.parseInt(options.get("--seed"));
        String idiom = options.get("--idiom");

        for (int i = 0; i < WARM_UPS; i++) {
            Load shorter = new Load(requests / WARM_UP_SHARE);
            station(idiom, shorter, new Recorder(shorter.requests), seed).run();
        }
        Load load = new Load(requests);
        long before = processCpuNs();
        Recorder recorder = new Recorder(requests);
        station(idiom, load, recorder, seed).run();
        String statistics = describe(recorder);
        double cpuS = (processCpuNs() - before) * 1e-9;
        System.out.printf(Locale.ROOT, "{\"requests\": %d, \"cpu_s\": %.6f, %s}%n", requests, cpuS, statistics);
    }

    private static Station station(String idiom, Load load, Recorder recorder, int seed) {
        switch (idiom) {
            case "textbook":
                return new TextbookStation(load, recorder, seed);
            case "tuned":
                return new TunedStation(load, recorder, seed);
            default:
                throw new IllegalArgumentException("--idiom is textbook or tuned, not " + idiom);
        }
    }

    private static String describe(Recorder recorder) {
        LogHistogram sojourn = recorder.sojourn;
        LogHistogram slowdown = recorder.slowdown;
        return String.format(
            Locale.ROOT,
            "\"mean_ns\": %.3f, \"p50_ns\": %.3f, \"p99_ns\": %.3f, \"p99.9_ns\": %.3f, \"max_ns\": %.3f, "
                + "\"slowdown_mean\": %.5f, \"slowdown_p50\": %.5f, \"slowdown_p99\": %.5f, "
                + "\"slowdown_p99.9\": %.5f, \"slowdown_max\": %.5f",
            sojourn.mean() * 1e3, sojourn.quantile(0.5) * 1e3, sojourn.quantile(0.99) * 1e3,
            sojourn.quantile(0.999) * 1e3, sojourn.max() * 1e3,
            slowdown.mean(), slowdown.quantile(0.5), slowdown.quantile(0.99), slowdown.quantile(0.999), slowdown.max());
    }

    /** Of all threads, so that garbage collection counts. */
    private static long processCpuNs() {
        return ((OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean()).getProcessCpuTime();
    }
}
