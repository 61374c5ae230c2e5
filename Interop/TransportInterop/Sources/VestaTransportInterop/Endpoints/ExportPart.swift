public import VestaBytes

/// One product's part of an export directory, in the layout of the Firebase CLI's suite; contributed as a component.
///
/// A server knows no product: it finds all parts by `container.resolveAll((any ExportPart).self)`, has each write its
/// files, and writes `firebase-export-metadata.json` of their entries.
///
/// Promises of every implementation:
/// - Memory is bounded, whatever the size of the data.
/// - Exported data is imported into an empty project unchanged, but for times that the layout has no place for.
public protocol ExportPart: Sendable {
  /// The name of the product's entry in the metadata: "firestore", "auth", "storage", "database".
  var product: String { get }

  /// Writes everything that a project has.
  ///
  /// - Parameters:
  ///   - project: The project.
  ///   - root: The path of the export directory, which exists and has nothing of this product.
  ///   - host: The server.
  /// - Returns: The entry of the metadata, without the version: `path` is relative to the directory.
  /// - Throws: The failure of the writing; the directory is then incomplete.
  func write(project: String, to root: String, in host: any EndpointHost) async throws -> JSONObject

  /// Adds what an export has to a project.
  ///
  /// - Parameters:
  ///   - project: The project.
  ///   - root: The path of the export directory.
  ///   - entry: The entry of the metadata.
  ///   - host: The server.
  /// - Throws: The mistake in the export, with the file; the data before it is in the project.
  func read(project: String, from root: String, entry: JSONObject, in host: any EndpointHost) async throws
}
