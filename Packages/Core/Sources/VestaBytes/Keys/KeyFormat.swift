/// The bytes of each kind of element.
///
/// Each element begins with a tag, and no element is a prefix of another; so the order of two keys is decided by
/// their first elements that differ, and a range over a prefix of elements holds nothing else. A descending element is
/// the ascending one with every bit turned: its tag is above `7F`, which is how a reader distinguishes the two.
///
/// | element | bytes |
/// |---|---|
/// | null, false, true | `01`, `02`, `03` |
/// | integer | tag `18` for zero, `18 + n` for a positive one of n bytes, `18 - n` for a negative one; the bytes after the tag are big-endian, for a negative one in ones' complement |
/// | double | `28`, eight bytes big-endian: sign bit turned for positive ones, all bits for negative ones; NaN is zero |
/// | string | `30`, UTF-8 with `00` written as `00 FF`, `00 01` |
/// | bytes | `38`, the bytes with `00` written as `00 FF`, `00 01` |
///
/// The end is two bytes, because with a single `00` the key of "a" would begin the key of "a\0". There is one encoding
/// for each value: a decoder refuses all others.
enum KeyFormat {
  static let null: UInt8 = 0x01
  static let no: UInt8 = 0x02
  static let yes: UInt8 = 0x03
  static let zero: UInt8 = 0x18
  static let double: UInt8 = 0x28
  static let string: UInt8 = 0x30
  static let bytes: UInt8 = 0x38
  static let end: UInt8 = 0x01
  static let escapedZero: UInt8 = 0xFF
}
