import CVestaFirebaseFirestoreStart
import VestaCore
import VestaFirestoreService
@_exported import VestaFirestore
@_exported import FirebaseCore

/// Registers what this module brings; called when the program is loaded.
@_cdecl("vesta_firebase_firestore_start")
public func vestaStartFirestore() {
  VestaApp.register(FirestoreLibrary.self)
  VestaApp.register(FirestoreServiceLibrary.self)
}
