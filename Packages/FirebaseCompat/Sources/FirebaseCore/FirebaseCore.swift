import CVestaFirebaseCoreStart
import VestaCrypto
import VestaSQLite
@_exported import VestaCore

/// Registers what this module brings; called when the program is loaded.
@_cdecl("vesta_firebase_core_start")
public func vestaStartCore() {
  VestaApp.register(SQLiteLibrary.self)
  VestaApp.register(CryptoLibrary.self)
}
