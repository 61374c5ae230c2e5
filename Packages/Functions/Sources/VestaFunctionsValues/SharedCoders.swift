package import VestaDataCoding

/// An encoder and a decoder that several tasks use at once.
// Sound as @unchecked Sendable: encoding and decoding read the configuration, and nobody changes it after `init`.
package final class SharedCoders: @unchecked Sendable {
  package let encoder: FirebaseDataEncoder
  package let decoder: FirebaseDataDecoder

  package init(
    encoder: FirebaseDataEncoder = FirebaseDataEncoder(), decoder: FirebaseDataDecoder = FirebaseDataDecoder()
  ) {
    self.encoder = encoder
    self.decoder = decoder
  }
}
