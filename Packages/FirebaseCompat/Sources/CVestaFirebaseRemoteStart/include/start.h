#ifndef VESTA_FIREBASEREMOTE_START_H
#define VESTA_FIREBASEREMOTE_START_H

/// Registers the remote backends of all products; written in Swift.
void vesta_firebase_remote_start(void);

#endif
