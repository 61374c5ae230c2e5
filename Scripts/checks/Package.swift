// swift-tools-version: 6.2
import PackageDescription

// The settings every Vesta target is built with; `make check` keeps them alike in all manifests.
let settings: [SwiftSetting] = [
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("InternalImportsByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("MemberImportVisibility"),
]

let package = Package(
  name: "Checks",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "Checks", targets: ["Checks"]),
    .executable(name: "vesta-checks", targets: ["vesta-checks"]),
    .executable(name: "vesta-export", targets: ["vesta-export"]),
  ],
  targets: [
    .target(name: "Checks", swiftSettings: settings),
    .executableTarget(name: "vesta-checks", dependencies: ["Checks"], swiftSettings: settings),
    .target(name: "Export", dependencies: ["Checks"], swiftSettings: settings),
    .executableTarget(name: "vesta-export", dependencies: ["Checks", "Export"], swiftSettings: settings),
    .testTarget(name: "ChecksTests", dependencies: ["Checks"], swiftSettings: settings),
    .testTarget(name: "ExportTests", dependencies: ["Checks", "Export"], swiftSettings: settings),
  ],
  swiftLanguageModes: [.v6]
)
