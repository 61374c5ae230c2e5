/// A word of the language, a literal or a sign.
struct Token: Sendable {
  enum Kind: Sendable, Equatable {
    case identifier
    case integer
    case float
    case string
    case bytes
    /// One of `{ } ( ) [ ] , ; : . ? ! + - * / % < > <= >= == != && || = $`.
    case sign(Sign)
    case end
    /// Bytes that begin no token.
    case unknown
  }

  enum Sign: String, Sendable, CaseIterable {
    case leftBrace = "{"
    case rightBrace = "}"
    case leftParen = "("
    case rightParen = ")"
    case leftBracket = "["
    case rightBracket = "]"
    case comma = ","
    case semicolon = ";"
    case colon = ":"
    case dot = "."
    case question = "?"
    case not = "!"
    case plus = "+"
    case minus = "-"
    case star = "*"
    case slash = "/"
    case percent = "%"
    case less = "<"
    case greater = ">"
    case lessOrEqual = "<="
    case greaterOrEqual = ">="
    case equal = "=="
    case notEqual = "!="
    case and = "&&"
    case or = "||"
    case assign = "="
    case dollar = "$"
  }

  let kind: Kind
  let span: Span

  func isSign(_ sign: Sign) -> Bool { kind == .sign(sign) }
}
