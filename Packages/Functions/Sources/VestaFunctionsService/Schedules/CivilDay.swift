import VestaBytes

/// A day of the proleptic Gregorian calendar, by its number since 1970-01-01; pure.
struct CivilDay: Sendable, Hashable {
  let number: Int64

  /// The month, 1 to 12, and the day of the month, 1 to 31.
  var monthAndDay: (month: Int, day: Int) {
    let date = RFC3339.date(ofDay: number)
    return (date.month, date.day)
  }

  /// The day of the week, 0 for Sunday.
  var weekday: Int {
    let day = (number + 4) % 7
    return Int(day < 0 ? day + 7 : day)
  }
}
