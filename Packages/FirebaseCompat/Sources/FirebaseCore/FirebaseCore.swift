import CVestaFirebaseCoreStart
// As on Apple platforms: each module of the SDK brings Foundation along.
@_exported import Foundation
@_exported import VestaCore
import VestaCrypto
import VestaSQLite

/// Registers what this module brings; called when the program is loaded.
@_cdecl("vesta_firebase_core_start")
public func vestaStartCore() {
  VestaApp.register(SQLiteLibrary.self)
  VestaApp.register(CryptoLibrary.self)
}
