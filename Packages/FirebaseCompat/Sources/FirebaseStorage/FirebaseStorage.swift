import CVestaFirebaseStorageStart
@_exported import FirebaseCore
import VestaCore
@_exported import VestaStorage
import VestaStorageService

/// Registers what this module brings; called when the program is loaded.
@_cdecl("vesta_firebase_storage_start")
public func vestaStartStorage() {
  VestaApp.register(StorageLibrary.self)
  VestaApp.register(StorageServiceLibrary.self)
}
