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
  name: "Database",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaDatabaseModel", targets: ["VestaDatabaseModel"])
  ],
  dependencies: [
    .package(path: "../../Interop/DatabaseBackend"),
  ],
  targets: [
    .target(
      name: "VestaDatabaseModel",
      dependencies: [.product(name: "VestaDatabaseBackend", package: "DatabaseBackend")],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaDatabaseModelTests",
      dependencies: [
        "VestaDatabaseModel",
        .product(name: "VestaDatabaseBackend", package: "DatabaseBackend"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
