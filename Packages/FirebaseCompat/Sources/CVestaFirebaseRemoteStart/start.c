#include "start.h"

// Runs when the program is loaded, so that FirebaseApp.configure() needs no list.
__attribute__((constructor)) static void start(void) { vesta_firebase_remote_start(); }
