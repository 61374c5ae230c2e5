import FirebaseCore
import Foundation
import Testing

/// A separate app on a separate folder, configured as the Firebase SDK's users configure theirs.
func withApp(_ product: String, _ body: (FirebaseApp) async throws -> Void) async throws {
  let directory = FileManager.default.temporaryDirectory.appendingPathComponent("vesta-compat-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: directory) }
  let options = FirebaseOptions(projectID: "compat", backend: .embedded(directory: directory))
  let name = "\(product)-\(UUID().uuidString)"
  FirebaseApp.configure(name: name, options: options)
  let app = try #require(FirebaseApp.app(name: name))
  do {
    try await body(app)
  } catch {
    _ = await app.delete()
    throw error
  }
  _ = await app.delete()
}

/// Waits for a completion handler.
func answer<Value: Sendable>(_ start: (@escaping @Sendable (Value) -> Void) -> Void) async -> Value {
  await withCheckedContinuation { continuation in start { continuation.resume(returning: $0) } }
}
