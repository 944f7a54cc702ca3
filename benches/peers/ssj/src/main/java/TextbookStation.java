import java.util.LinkedList;
import umontreal.ssj.randvar.ExponentialGen;
import umontreal.ssj.rng.MRG32k3a;
import umontreal.ssj.simevents.Event;
import umontreal.ssj.simevents.Sim;

/**
 * M/M/k as the event-oriented queue of SSJ's user guide: default event list (splay tree), MRG32k3a streams,
 * variate generators, one object a customer and one an event, customers in lists.
 */
final class TextbookStation implements Station {
    private final ExponentialGen gaps;
    private final ExponentialGen services;
    private final LinkedList<Customer> waiting = new LinkedList<>();
    private final Recorder recorder;
    private long toArrive;
    private int idle;

    TextbookStation(Load load, Recorder recorder, int seed) {
        MRG32k3a.setPackageSeed(new long[] {seed, seed, seed, seed, seed, seed});
        gaps = new ExponentialGen(new MRG32k3a(), load.arrivalsPerUs());
        services = new ExponentialGen(new MRG32k3a(), 1.0 / load.meanServiceUs);
        this.recorder = recorder;
        toArrive = load.requests;
        idle = load.servers;
    }

    @Override
    public void run() {
        Sim.init();
        new Arrival().schedule(gaps.nextDouble());
        Sim.start();
    }

    private static final class Customer {
        double arrived;
        double service;
    }

    private final class Arrival extends Event {
        @Override
        public void actions() {
            Customer customer = new Customer();
            customer.arrived = Sim.time();
            customer.service = services.nextDouble();
            if (idle > 0) {
                idle--;
                new Departure(customer).schedule(customer.service);
            } else {
                waiting.addLast(customer);
            }
            if (--toArrive > 0) {
                new Arrival().schedule(gaps.nextDouble());
            }
        }
    }

    private final class Departure extends Event {
        private final Customer customer;

        Departure(Customer customer) {
            this.customer = customer;
        }

        @Override
        public void actions() {
            recorder.finish(customer.arrived, customer.service, Sim.time());
            if (waiting.isEmpty()) {
                idle++;
            } else {
                Customer next = waiting.removeFirst();
                new Departure(next).schedule(next.service);
            }
        }
    }
}
