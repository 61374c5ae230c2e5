import CVestaFirebaseMessagingStart
@_exported import FirebaseCore
import VestaCore
@_exported import VestaMessaging
import VestaMessagingService

/// Registers what this module brings; called when the program is loaded.
@_cdecl("vesta_firebase_messaging_start")
public func vestaStartMessaging() {
  VestaApp.register(MessagingLibrary.self)
  VestaApp.register(MessagingServiceLibrary.self)
}
