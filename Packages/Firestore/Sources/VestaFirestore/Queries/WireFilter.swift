internal import VestaFirestoreBackend

/// A filter as the backend takes it.
///
/// In a file without the reader: a query keeps filters and need not know how they are read.
typealias WireFilter = VestaFirestoreBackend.Filter
