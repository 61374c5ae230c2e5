#ifndef VESTA_FIREBASEMESSAGING_START_H
#define VESTA_FIREBASEMESSAGING_START_H

/// Registers the libraries of FirebaseMessaging; written in Swift.
void vesta_firebase_messaging_start(void);

#endif
