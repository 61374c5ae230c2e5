import Foundation
import VestaConcurrency
import VestaCore
import VestaMessagingBackend
import VestaMessagingBackendFakes
import VestaServiceInterop
import VestaServiceInteropFakes
import VestaTesting

@testable import VestaMessaging

/// An app with a client on a scripted service, and virtual time.
struct Bench: Sendable {
  let directory: TemporaryDirectory
  let app: VestaApp
  let backend: ScriptedMessagingBackend
  let clock = ManualClock()
  let messaging: Messaging

  init(
    backend: ScriptedMessagingBackend = ScriptedMessagingBackend(), autoInit: Bool = false,
    network: ManualNetwork? = nil, tuning: MessagingTuning = MessagingTuning()
  ) throws {
    self.backend = backend
    directory = try TemporaryDirectory("messaging")
    let options = VestaOptions(
      projectID: "p", backend: .embedded(directory: URL(filePath: directory.path, directoryHint: .isDirectory)))
    options.callbackQueue = .global()
    app = try VestaApp.configure(name: "msg-\(UUID().uuidString)", options: options, libraries: [])
    app.isDataCollectionDefaultEnabled = autoInit
    messaging = Bench.client(app, backend, clock, network, tuning)
  }

  static func client(
    _ app: VestaApp, _ backend: ScriptedMessagingBackend, _ clock: ManualClock, _ network: ManualNetwork? = nil,
    _ tuning: MessagingTuning = MessagingTuning()
  ) -> Messaging {
    Messaging(
      app: app, backend: backend, network: network,
      clock: ServiceClock(now: { clock.now }, schedule: { clock.schedule(after: $0, $1) }), tuning: tuning)
  }

  func end() async {
    messaging.end()
    await app.delete()
  }
}
