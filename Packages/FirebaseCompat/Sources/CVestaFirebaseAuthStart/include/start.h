#ifndef VESTA_FIREBASEAUTH_START_H
#define VESTA_FIREBASEAUTH_START_H

/// Registers the libraries of FirebaseAuth; written in Swift.
void vesta_firebase_auth_start(void);

#endif
