#ifndef VESTA_FIREBASEDATABASE_START_H
#define VESTA_FIREBASEDATABASE_START_H

/// Registers the libraries of FirebaseDatabase; written in Swift.
void vesta_firebase_database_start(void);

#endif
