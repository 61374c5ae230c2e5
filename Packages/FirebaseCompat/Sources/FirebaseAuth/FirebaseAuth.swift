import CVestaFirebaseAuthStart
@_exported import FirebaseCore
@_exported import VestaAuth
import VestaAuthService
import VestaCore

/// Registers what this module brings; called when the program is loaded.
@_cdecl("vesta_firebase_auth_start")
public func vestaStartAuth() {
  VestaApp.register(AuthLibrary.self)
  VestaApp.register(AuthServiceLibrary.self)
}
