import CVestaFirebaseDatabaseStart
@_exported import FirebaseCore
import VestaCore
@_exported import VestaDatabase
import VestaDatabaseService

/// Registers what this module brings; called when the program is loaded.
@_cdecl("vesta_firebase_database_start")
public func vestaStartDatabase() {
  VestaApp.register(DatabaseLibrary.self)
  VestaApp.register(DatabaseServiceLibrary.self)
}
