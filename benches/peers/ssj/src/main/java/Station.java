/** One queue and its servers, written in one of the idioms. */
interface Station {
    /** Simulates until the last request has left. */
    void run();
}
