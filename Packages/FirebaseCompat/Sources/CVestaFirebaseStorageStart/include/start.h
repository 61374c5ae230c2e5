#ifndef VESTA_FIREBASESTORAGE_START_H
#define VESTA_FIREBASESTORAGE_START_H

/// Registers the libraries of FirebaseStorage; written in Swift.
void vesta_firebase_storage_start(void);

#endif
