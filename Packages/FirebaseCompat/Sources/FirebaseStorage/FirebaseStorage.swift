import CVestaFirebaseStorageStart
import VestaCore
import VestaStorageService
@_exported import VestaStorage
@_exported import FirebaseCore

/// Registers what this module brings; called when the program is loaded.
@_cdecl("vesta_firebase_storage_start")
public func vestaStartStorage() {
  VestaApp.register(StorageLibrary.self)
  VestaApp.register(StorageServiceLibrary.self)
}
