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
  name: "AnalyticsInterop",
  platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
  products: [
    .library(name: "VestaAnalyticsInterop", targets: ["VestaAnalyticsInterop"]),
    .library(name: "VestaAnalyticsInteropContracts", targets: ["VestaAnalyticsInteropContracts"]),
    .library(name: "VestaAnalyticsInteropFakes", targets: ["VestaAnalyticsInteropFakes"]),
  ],
  dependencies: [
    .package(path: "../../Packages/Core")
  ],
  targets: [
    .target(
      name: "VestaAnalyticsInterop",
      dependencies: [.product(name: "VestaConcurrency", package: "Core")],
      swiftSettings: settings
    ),
    .target(
      name: "VestaAnalyticsInteropContracts",
      dependencies: [
        "VestaAnalyticsInterop",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .target(
      name: "VestaAnalyticsInteropFakes",
      dependencies: [
        "VestaAnalyticsInterop",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
    .testTarget(
      name: "VestaAnalyticsInteropTests",
      dependencies: [
        "VestaAnalyticsInterop", "VestaAnalyticsInteropContracts", "VestaAnalyticsInteropFakes",
        .product(name: "VestaConcurrency", package: "Core"),
        .product(name: "VestaTesting", package: "Core"),
      ],
      swiftSettings: settings
    ),
  ],
  swiftLanguageModes: [.v6]
)
