import CVestaFirebaseFunctionsStart
@_exported import FirebaseCore
import VestaCore
@_exported import VestaFunctions
import VestaFunctionsService

/// Registers what this module brings; called when the program is loaded.
@_cdecl("vesta_firebase_functions_start")
public func vestaStartFunctions() {
  VestaApp.register(FunctionsLibrary.self)
  VestaApp.register(FunctionsServiceLibrary.self)
}
