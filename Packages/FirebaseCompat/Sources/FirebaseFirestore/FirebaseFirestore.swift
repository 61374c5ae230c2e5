import CVestaFirebaseFirestoreStart
@_exported import FirebaseCore
import VestaCore
@_exported import VestaFirestore
import VestaFirestoreService

/// Registers what this module brings; called when the program is loaded.
@_cdecl("vesta_firebase_firestore_start")
public func vestaStartFirestore() {
  VestaApp.register(FirestoreLibrary.self)
  VestaApp.register(FirestoreServiceLibrary.self)
}
