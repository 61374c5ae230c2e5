#ifndef VESTA_FIREBASECORE_START_H
#define VESTA_FIREBASECORE_START_H

/// Registers the libraries of FirebaseCore; written in Swift.
void vesta_firebase_core_start(void);

#endif
