public import VestaBytes
public import VestaFirestoreBackend
import VestaServiceInterop

/// The errors of the service as `google.rpc.Status`.
public enum StatusWire {
  /// The status of an error.
  public static func status(of error: FirestoreServiceError) -> ProtobufStatus {
    error.status.protobuf
  }

  /// The error of a status; `nil` for success.
  public static func error(of status: ProtobufStatus) -> FirestoreServiceError? {
    status.code == 0 ? nil : FirestoreServiceError(ServiceStatus(status))
  }
}
