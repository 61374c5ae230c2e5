import VestaBytes
import VestaTesting

/// The codecs of the wire, a line for each form of each product.
enum WireCodec: String, CaseIterable, Sendable {
  case firestoreBytes = "Firestore, protobuf"
  case firestoreJSON = "Firestore, JSON"
  case webChannel = "Firestore, WebChannel"
  case exports = "Firestore, exports"
  case databaseFrames = "Database, frames"
  case databaseREST = "Database, REST"
  case authMessages = "Auth, messages"
  case authRoutes = "Auth, routes and settings"
  case storage = "Storage"
  case remoteConfig = "Remote Config"
  case messaging = "Messaging"
  case functions = "Functions"
  case installations = "Installations"
  case appCheck = "App Check"

  /// The decoders of the codec, with messages that they read.
  func inputs() throws -> HostileInputs {
    let isBinary = self == .firestoreBytes || self == .exports
    return HostileInputs(
      rawValue, try decoders(), marks: isBinary ? HostileInputs.binaryMarks : HostileInputs.textMarks)
  }

  private func decoders() throws -> [HostileInputs.Decoder] {
    switch self {
    case .firestoreBytes: try FirestoreSamples.all().map(\.bytes)
    case .firestoreJSON: try FirestoreSamples.all().map(\.json)
    case .webChannel: try WebChannelSamples.all()
    case .exports: ExportSamples.all()
    case .databaseFrames: DatabaseSamples.frames()
    case .databaseREST: DatabaseSamples.rest()
    case .authMessages: try AuthSamples.messages().map(\.json)
    case .authRoutes: AuthSamples.routesAndSettings()
    case .storage: StorageSamples.all()
    case .remoteConfig: RemoteConfigSamples.all()
    case .messaging: MessagingSamples.all()
    case .functions: FunctionsSamples.all()
    case .installations: InstallationsSamples.all()
    case .appCheck: AppCheckSamples.all()
    }
  }
}

/// A message of a schema, and what reads its two forms.
struct MessageSample {
  let json: HostileInputs.Decoder
  /// The bytes of the messages that have any: some have a form in JSON alone.
  let bytes: HostileInputs.Decoder

  /// A message by its JSON; members that the schema does not have are ignored, as services do.
  init<Schema: ProtobufSchema>(_ schema: Schema.Type, _ samples: String...) throws {
    let texts = samples.map(utf8)
    json = HostileInputs.Decoder(texts) { _ = try Schema.message(json: $0, ignoresUnknownNames: true) }
    let messages = try texts.map { try Schema.message(json: $0) }
    bytes = HostileInputs.Decoder(messages.compactMap { try? Schema.bytes(of: $0) }) {
      _ = try Schema.message(from: $0)
    }
  }

  /// A message with a conversion by its JSON.
  init<Conversion: ProtobufConversion>(_ conversion: Conversion.Type, _ samples: String...) throws {
    let texts = samples.map(utf8)
    json = HostileInputs.Decoder(texts) {
      _ = try Conversion.value(json: JSONValue(json: $0), ignoresUnknownNames: true)
    }
    let values = try texts.map { try Conversion.value(json: JSONValue(json: $0)) }
    bytes = HostileInputs.Decoder(values.compactMap { try? Conversion.bytes(of: $0) }) {
      _ = try Conversion.value(from: $0)
    }
  }
}

func utf8(_ text: String) -> [UInt8] { Array(text.utf8) }

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

/// A decoder of text, such as a target of HTTP.
func texts(_ samples: String..., read: @escaping (String) throws -> Void) -> HostileInputs.Decoder {
  HostileInputs.Decoder(samples.map(utf8)) { try read(text($0)) }
}

/// A decoder of bytes with samples that are text.
func bodies(_ samples: String..., read: @escaping ([UInt8]) throws -> Void) -> HostileInputs.Decoder {
  HostileInputs.Decoder(samples.map(utf8), read)
}
