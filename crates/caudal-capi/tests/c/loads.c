/* A program in C that knows the library, and loads a part of it in C++ for itself alone: `loads PART POLICY`. */
#include <dlfcn.h>
#include <stdio.h>

#include <caudal/caudal.h>

int main(int argc, char **argv)
{
    void *part = argc == 3 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    int (*run)(int, char **);
    if (part == NULL || caudal_abi_version() != CAUDAL_ABI_VERSION) {
        fprintf(stderr, "%s\n", dlerror());
        return 1;
    }
    *(void **)&run = dlsym(part, "run_part");
    return run == NULL ? 1 : run(argc - 1, argv + 1);
}
