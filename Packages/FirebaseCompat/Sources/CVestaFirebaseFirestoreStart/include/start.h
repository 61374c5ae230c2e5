#ifndef VESTA_FIREBASEFIRESTORE_START_H
#define VESTA_FIREBASEFIRESTORE_START_H

/// Registers the libraries of FirebaseFirestore; written in Swift.
void vesta_firebase_firestore_start(void);

#endif
