import CVestaFirebaseDatabaseStart
import VestaCore
import VestaDatabaseService
@_exported import VestaDatabase
@_exported import FirebaseCore

/// Registers what this module brings; called when the program is loaded.
@_cdecl("vesta_firebase_database_start")
public func vestaStartDatabase() {
  VestaApp.register(DatabaseLibrary.self)
  VestaApp.register(DatabaseServiceLibrary.self)
}
