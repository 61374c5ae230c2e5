import VestaTransportInterop

/// The methods of `google.firestore.v1.Firestore`, and of its administration.
struct FirestoreService: GRPCService {
  private let methods: [String: GRPCMethod]

  init(_ calls: CallTable, _ administration: AdminCallTable) {
    let own = calls.grpc.map { ("/google.firestore.v1.Firestore/\($0.key)", $0.value) }
    methods = administration.grpc.merging(own) { $1 }
  }

  func method(at path: String) -> GRPCMethod? { methods[path] }
}
