import CVestaFirebaseFunctionsStart
import VestaCore
import VestaFunctionsService
@_exported import VestaFunctions
@_exported import FirebaseCore

/// Registers what this module brings; called when the program is loaded.
@_cdecl("vesta_firebase_functions_start")
public func vestaStartFunctions() {
  VestaApp.register(FunctionsLibrary.self)
  VestaApp.register(FunctionsServiceLibrary.self)
}
