#ifndef VESTA_FIREBASEREMOTECONFIG_START_H
#define VESTA_FIREBASEREMOTECONFIG_START_H

/// Registers the libraries of FirebaseRemoteConfig; written in Swift.
void vesta_firebase_remoteconfig_start(void);

#endif
