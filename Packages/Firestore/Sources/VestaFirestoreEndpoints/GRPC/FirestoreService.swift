import VestaTransportInterop

/// The methods of `google.firestore.v1.Firestore`.
struct FirestoreService: GRPCService {
  private let methods: [String: GRPCMethod]

  init(_ calls: CallTable) {
    methods = Dictionary(
      uniqueKeysWithValues: calls.grpc.map { ("/google.firestore.v1.Firestore/\($0.key)", $0.value) })
  }

  func method(at path: String) -> GRPCMethod? { methods[path] }
}
