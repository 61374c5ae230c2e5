#ifndef VESTA_FIREBASEFUNCTIONS_START_H
#define VESTA_FIREBASEFUNCTIONS_START_H

/// Registers the libraries of FirebaseFunctions; written in Swift.
void vesta_firebase_functions_start(void);

#endif
