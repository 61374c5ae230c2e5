import VestaBytes
import VestaFirestoreBackend

enum ExplainOptionsWire: ProtobufSchema {
  static var empty: ExplainOptions { ExplainOptions() }

  static func visit(_ options: inout ExplainOptions, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "analyze", &options.analyze, ProtobufBool.self)
  }
}

enum ExplainMetricsWire: ProtobufSchema {
  static var empty: ExplainMetrics { ExplainMetrics(indexesUsed: []) }

  static func visit(_ metrics: inout ExplainMetrics, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    var plan = Optional(metrics.indexesUsed)
    try visitor.optional(1, "planSummary", &plan, ProtobufMessage<PlanSummaryWire>.self)
    metrics.indexesUsed = plan ?? []
    try visitor.optional(2, "executionStats", &metrics.executionStats, ProtobufMessage<ExecutionStatsWire>.self)
  }
}

private enum PlanSummaryWire: ProtobufSchema {
  static var empty: [MapValue] { [] }

  static func visit(_ indexes: inout [MapValue], _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.repeated(1, "indexesUsed", &indexes, StructWire.self)
  }
}

private enum ExecutionStatsWire: ProtobufSchema {
  static var empty: ExecutionStats { ExecutionStats(resultsReturned: 0, executionDuration: .zero, readOperations: 0) }

  static func visit(_ stats: inout ExecutionStats, _ visitor: inout some ProtobufVisitor) throws(BytesError) {
    try visitor.field(1, "resultsReturned", &stats.resultsReturned, ProtobufInt64.self)
    try visitor.field(3, "executionDuration", &stats.executionDuration, DurationWire.self)
    try visitor.field(4, "readOperations", &stats.readOperations, ProtobufInt64.self)
    try visitor.field(5, "debugStats", &stats.debugStats, StructWire.self)
  }
}
