/* What a program in C loads: each request that calls it is in the middle of handling its own exception when the others run. */
extern "C" int handles(int value, void (*yield)(void));

int handles(int value, void (*yield)(void))
{
    int own = 0;
    for (int round = 0; round < 100; round++) {
        try {
            try {
                throw value;
            } catch (int) {
                yield();
                throw;
            }
        } catch (int again) {
            own += again == value;
        }
    }
    return own;
}
