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
  name: "FirestoreInterop",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "FirestoreInterop", targets: ["FirestoreInterop"]),
    .library(name: "FirestoreInteropContracts", targets: ["FirestoreInteropContracts"]),
  ],
  dependencies: [
    .package(path: "../ContractInterop")
  ],
  targets: [
    .target(name: "FirestoreInterop", swiftSettings: settings),
    .target(
      name: "FirestoreInteropContracts",
      dependencies: ["FirestoreInterop", .product(name: "ContractInterop", package: "ContractInterop")],
      swiftSettings: settings
    ),
    .testTarget(
      name: "FirestoreInteropTests",
      dependencies: [
        "FirestoreInterop", "FirestoreInteropContracts",
        .product(name: "ContractInterop", package: "ContractInterop"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
