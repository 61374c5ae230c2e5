/// The line `date: Sun, 06 Nov 1994 08:49:37 GMT` of a head, made once a second.
struct DateLine {
  private var bytes: [UInt8] = []
  /// The time on the steady clock until which the line is used.
  private var validUntil: Int64 = .min

  mutating func line(at now: Int64) -> [UInt8] {
    if now >= validUntil {
      bytes = Array("date: \(Self.text(PlatformClock.secondsSince1970))\r\n".utf8)
      validUntil = now + 500_000_000
    }
    return bytes
  }

  /// A time as RFC 9110 writes it in section 5.6.7.
  static func text(_ seconds: Int) -> String {
    let days = Int((Double(seconds) / 86_400).rounded(.down))
    let rest = seconds - days * 86_400
    // The civil calendar, in eras of 400 years that begin on the first of March.
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthIndex = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthIndex + 2) / 5 + 1
    let month = monthIndex < 10 ? monthIndex + 3 : monthIndex - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    let weekday = ((days + 4) % 7 + 7) % 7
    func two(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
    return
      "\(weekdays[weekday]), \(two(day)) \(months[month - 1]) \(year) \(two(rest / 3_600)):\(two(rest / 60 % 60)):\(two(rest % 60)) GMT"
  }

  private static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
